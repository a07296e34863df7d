/** A text as SQL has it. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
