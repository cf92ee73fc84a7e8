import { didYouMean } from "../grammar/did-you-mean.ts";

/** Whether a text is a CSS colour (CSS Color 4): hexadecimal, a name, or one of the functions with plain arguments. */
export function isColor(text: string): boolean {
  const color = text.trim().toLowerCase();
  if (/^#([0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(color)) return true;
  if (/^(rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark|var)\([-a-z0-9#%.,/\s()]+\)$/.test(color))
    return true;
  return CSS_COLORS.has(color);
}

/** The named colours of CSS Color 4 section 6.1, and the keywords beside them. */
export const CSS_COLORS: ReadonlySet<string> = new Set(
  `aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood
  cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
  darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
  darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
  firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew
  hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
  lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
  lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
  mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
  midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid
  palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple
  rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue
  slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow
  yellowgreen transparent currentcolor inherit initial`.split(/\s+/),
);

/** The colour that a text was likely meant to be: a name misspelt, hexadecimal without its sign or of another length. */
export function nearColor(text: string): string | undefined {
  const color = text
    .trim()
    .toLowerCase()
    .replace(/^0x|^#+/, "");
  if (/^[0-9a-f]{1,9}$/.test(color)) {
    if (isColor(`#${color}`)) return `#${color}`;
    if (color.length > 6) return `#${color.slice(0, 6)}`;
    return color.length < 3 ? `#${color.padEnd(3, color.at(-1)!)}` : `#${color.padEnd(6, "0")}`;
  }
  const near = didYouMean(color, CSS_COLORS);
  if (near !== undefined) return near;
  const called = `${color.replace(/[,\s]+$/, "").replace(/\)*$/, "")})`;
  return color.includes("(") && isColor(called) ? called : undefined;
}
