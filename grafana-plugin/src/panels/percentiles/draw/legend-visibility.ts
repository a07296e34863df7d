/**
 * The hidden lines after a click in the legend, as Grafana's panels do it: a click shows that line alone, a click on the
 * only visible line shows all again; with Ctrl or Cmd (`more`) it switches that line only.
 */
export function toggled(hidden: ReadonlySet<string>, keys: readonly string[], key: string, more: boolean): Set<string> {
  if (more) {
    const next = new Set(hidden);
    if (!next.delete(key)) {
      next.add(key);
    }
    return next;
  }
  const visible = keys.filter((other) => !hidden.has(other));
  return visible.length === 1 && visible[0] === key ? new Set() : new Set(keys.filter((other) => other !== key));
}
