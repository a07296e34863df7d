/** A string as an SQL literal. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
