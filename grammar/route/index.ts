// Route patterns and locations: text in, values out. What else stands in this folder is nobody's business outside it.
export type {
  Literal,
  Location,
  LocationPart,
  LocationText,
  Param,
  Placeholder,
  Route,
  RoutePart,
  Wildcard,
} from "./ast.ts";
export { highlightLocation, highlightRoute } from "./highlight.generated.ts";
export { parseLocation } from "./location.ts";
export { compareRoutes, literalStart, locationCaptures, routeCaptures, sameShape, shapeKey } from "./order.ts";
export { parseRoute } from "./pattern.ts";
export { printLocation, printRoute } from "./print.ts";
export { substitute } from "./substitute.ts";
export { compileRoutes, compileRoutesInSteps, type RouteMatch, type RouteTable } from "./table.ts";
