/** The actions on a value that is shown, wherever it is shown. Fields are named as queries name them. */
export interface ValueActions {
  filterIn(field: string, value: unknown): void;
  /** Only events with this value, whatever else the query said. */
  alone(field: string, value: unknown): void;
  filterOut(field: string, value: unknown): void;
  exists(field: string): void;
  groupBy(field: string): void;
  toggleColumn(field: string): void;
}
