export const EXPORT_FORMATS = ['json', 'csv', 'jsonl', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Header of the exported files. */
export interface ExportInfo {
  /** Name and version of this program. */
  readonly tool: string;
  /** ID of the run, or a name generated for the collection. */
  readonly id: string;
}
