/** The member of a table for a name from elsewhere: not what every object has, such as `constructor`. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
