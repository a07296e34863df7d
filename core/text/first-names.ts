/** At most so many names, and how many more there are: `a, b and 3 more`. Empty for none. */
export function firstNames(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
