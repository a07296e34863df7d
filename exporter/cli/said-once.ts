/**
 * Shows a line once: what is the same for all runs of a command is not repeated by each. Of a line that begins with something
 * new, the sentences that explain it are shown once.
 */
export function saidOnce(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    const [first = '', ...others] = line.split(/(?<=\.) (?=[A-Z])/);
    const sentences = said.has(first) ? [first, ...others] : [first, ...others.filter((each) => !said.has(each))];
    const isKnown = [first, ...others].every((each) => said.has(each));
    for (const sentence of sentences) said.add(sentence);
    if (!isKnown) say(sentences.join(' '));
  };
}
