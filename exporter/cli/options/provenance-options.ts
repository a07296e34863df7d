import { LONGEST_METADATA, metadataPair, MOST_METADATA } from '../../provenance/metadata.ts';
import type { ProvenanceRequest } from '../../provenance/provenance-request.ts';
import { CliError } from '../failure.ts';
import { text, texts, type OptionValues } from './options.ts';

/** Facts about a run that it cannot find out itself. None of them is part of the fingerprint. */
export const PROVENANCE_OPTIONS = {
  'server-image': text(
    'IMAGE',
    'container image of the server with its digest, such as vllm/vllm-openai@sha256:…',
    null,
  ),
  metadata: texts('KEY=VALUE', `a fact to keep with the run; may be repeated, at most ${MOST_METADATA} times`),
};

/** Throws a `CliError`. */
export function statedProvenance(options: OptionValues<typeof PROVENANCE_OPTIONS>): ProvenanceRequest {
  const image = options['server-image'];
  if (image !== null && (image === '' || image.length > LONGEST_METADATA || /\s/.test(image)))
    throw new CliError(`--server-image must be the name of an image of at most ${LONGEST_METADATA} characters`);
  if (options.metadata.length > MOST_METADATA)
    throw new CliError(`--metadata was given ${options.metadata.length} times; at most ${MOST_METADATA} are kept`);
  return { serverImage: image, metadata: Object.fromEntries(options.metadata.map(pair)) };
}

function pair(given: string): readonly [key: string, value: string] {
  const found = metadataPair(given);
  // The value may be a secret: it is not repeated.
  if (found === null)
    throw new CliError(
      '--metadata expects KEY=VALUE with a key of at most 64 letters, digits, dots, dashes and underscores',
    );
  const [key, value] = found;
  if (value.length > LONGEST_METADATA)
    throw new CliError(`--metadata ${key} is longer than ${LONGEST_METADATA} characters`);
  return found;
}
