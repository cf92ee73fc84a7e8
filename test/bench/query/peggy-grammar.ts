// A rival for the bench: query.ohm written for peggy, with plain objects as its tree.
export const peggyGrammar = String.raw`
query = _ expr:or? _ { return expr; }
or = first:and rest:(_ operator:orOp _ term:and { return term; })*
  { return rest.length === 0 ? first : { kind: "or", terms: [first, ...rest], span: range() }; }
and = first:unary rest:(_ (andOp _)? term:unary { return term; })*
  { return rest.length === 0 ? first : { kind: "and", terms: [first, ...rest], span: range() }; }
unary = nots:(notOp _)* term:primary { return nots.reduceRight((inner) => ({ kind: "not", term: inner, span: range() }), term); }
primary = "(" _ inner:or _ ")" { return inner; } / exists / condition / level / stage / message / truthy

exists = existsWord _ field:field { return { kind: "exists", field, span: range() }; }
condition
  = field:field _ op:comparisonOp _ value:value { return { kind: "comparison", field, op, value, span: range() }; }
  / field:field _ not:(notWord _)? inWord _ "(" _ values:values? _ ")" { return { kind: "in", field, not: not !== null, values: values ?? [], span: range() }; }
  / field:field _ containsWord _ text:(string / word) { return { kind: "contains", field, text, span: range() }; }
  / field:field _ "~" _ regex:regex { return { kind: "match", field, regex, span: range() }; }
values = first:value rest:(_ "," _ value:value { return value; })* { return [first, ...rest]; }
level = word:$levelWord !nameRest ![."[] { return { kind: "level", word, span: range() }; }
stage = word:$stageWord !nameRest ![."[] { return { kind: "stage", word, span: range() }; }
message = text:string { return { kind: "message", text, span: range() }; }
truthy = field:field { return { kind: "truthy", field, span: range() }; }

orOp = ("or" / "OR") !nameRest / "||"
andOp = ("and" / "AND") !nameRest / "&&"
notOp = ("not" / "NOT") !nameRest / "!" !"="
comparisonOp = "==" / "=" / "!=" / ">=" / ">" / "<=" / "<"
notWord = ("not" / "NOT") !nameRest
inWord = ("in" / "IN") !nameRest
containsWord = ("contains" / "CONTAINS") !nameRest
existsWord = ("exists" / "EXISTS") !nameRest
reserved = ("and" / "or" / "not" / "in" / "contains" / "exists" / "AND" / "OR" / "NOT" / "IN" / "CONTAINS" / "EXISTS")
levelWord = "debug"i / "verbose"i / "trace"i / "info"i / "notice"i / "warning"i / "warn"i / "error"i / "err"i / "critical"i / "crit"i / "alert"i / "emergency"i / "emerg"i / "fatal"i
stageWord = "production"i / "staging"i / "development"i

field = !(reserved !nameRest) first:$name rest:segment* !"\"" { return { path: [first, ...rest], span: range() }; }
segment = "." key:$name { return key; } / "[" index:$[0-9]+ "]" { return Number(index); } / "[" key:quoted "]" { return key; }
name = [\p{L}_@$]u nameRest*
nameRest = [\p{L}\p{M}0-9_@$-]u

value = string / number / boolean / nothing / word
string = text:quoted !wordChar !"\"" { return { kind: "string", chunks: text.split("*"), span: range() }; }
quoted = "\"" text:$(("\\" [^\n\r]) / [^"\\\n\r])* "\"" { return text; }
number = text:$("-"? ([0-9]+ ("." [0-9]+)? / "." [0-9]+) ([eE] [+-]? [0-9]+)?) unit:$unit? !wordChar !"\"" { return { kind: "number", value: Number(text), unit, span: range() }; }
unit = "kb" / "mb" / "gb" / "tb" / "b" / "ms" / "s" / "m" / "h" / "d"
boolean = text:$("true" / "false" / "TRUE" / "FALSE") !wordChar !"\"" { return { kind: "boolean", value: text.toLowerCase() === "true", span: range() }; }
nothing = ("null" / "NULL") !wordChar !"\"" { return { kind: "null", span: range() }; }
word = !(reserved !wordChar) text:$wordChar+ !"\"" { return { kind: "word", chunks: text.split("*"), span: range() }; }
wordChar = [\p{L}\p{M}0-9_\-./:@+%~*]u
regex = "/" source:$(("\\" [^\n\r]) / [^/\\\n\r])* "/" flags:$[a-z]* { return { source, flags, span: range() }; }
_ = [ \t\r\n]*
`;
