/** What stands at the head of the exported files. */
export interface ExportInfo {
  /** Name and version of this program. */
  readonly tool: string;
  /** The run, or a name made for the collection. */
  readonly id: string;
}
