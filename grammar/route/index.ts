// Route patterns and locations: text in, values out. Nothing else of this folder is imported from outside.
export type { Location, Route } from "./ast.ts";
export { parseLocation } from "./location.ts";
export { compareRoutes, literalStart, locationCaptures, routeCaptures, sameShape, shapeKey } from "./order.ts";
export { parseRoute } from "./pattern.ts";
export { substitute } from "./substitute.ts";
export { compileRoutes, compileRoutesInSteps, type RouteTable } from "./table.ts";
