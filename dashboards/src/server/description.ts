import { OVER_TIME } from '../wording.ts';
import { isVersion } from '../../../catalog/versions.ts';
import type { Family } from './families.ts';
import type { PanelSpec } from './panel-spec.ts';

const OF_RUN =
  'Counts and percentiles that `llmbench serve` publishes are of exactly the measure phase of the chosen runs, as soon as their ' +
  'results are there; of several runs, the sum of the counts and the highest percentile. All others are of the time range: an ' +
  'increase is extrapolated, and begins with the first scrape.';

/** What a panel says about itself: what it means and what to do, what its percentiles are worth, the facts of the catalog. */
export function description({ about, cells = [], signals }: PanelSpec, ofPercentiles = OVER_TIME): string {
  const families = [...new Set(signals.flatMap((signal) => signal.families))];
  const columns = cells.map((cell) => `**${cell.title}**: ${cell.about}`);
  const estimate = signals.some(({ percentile }) => percentile !== undefined) ? [ofPercentiles] : [];
  const exact = cells.some(({ signal }) => signal.ofRun !== undefined) ? [OF_RUN] : [];
  return [about, ...columns, ...exact, ...estimate, ...families.map(familyFacts)].join('\n\n');
}

function familyFacts(family: Family): string {
  const facts = [sentence(family.help), ...releases(family)];
  if (family.deprecated !== undefined) facts.push(sentence(`Not in every version: ${family.deprecated}`));
  if (family.exposed !== 'always') facts.push(sentence(`Exposed: ${family.when}`));
  const { buckets, type } = family;
  if (type === 'histogram' && typeof buckets === 'object' && buckets.length > 0) {
    const first = buckets.find((bound) => bound > 0);
    const below =
      first === undefined ? '' : ` Below ${first} a percentile is only known to lie between 0 and ${first}.`;
    facts.push(`Default bounds: ${buckets.length}, from ${String(buckets[0])} to ${String(buckets.at(-1))}.${below}`);
  }
  return `\`${family.name}\` (${family.type}): ${facts.join(' ')}`;
}

/** Which releases of a server have it, and under which names. */
function releases({ page, since, until, formerly }: Family): string[] {
  const from = isVersion(since) ? ` ${page.title} has it since ${since}` : '';
  const to = isVersion(until) ? `${from === '' ? ` ${page.title} has it` : ''} until ${until}` : '';
  const names = (formerly ?? []).map((name) => `\`${name}\``).join(', ');
  const before = names === '' ? '' : `${from === '' ? ' Formerly' : ', formerly'} ${names}`;
  const text = `${from}${to}${before}`;
  return text === '' ? [] : [`Not in every version:${text}.`];
}

function sentence(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '');
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`;
}
