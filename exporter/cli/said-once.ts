/** Shows a line once: what is the same for all runs of a command is not repeated by each. */
export function saidOnce(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    if (said.has(line)) return;
    said.add(line);
    say(line);
  };
}
