import type { ChangedTags } from '../../../core/api/runs.ts';
import type { RequestHandler } from 'express';
import { changedTags, isTag, TAG_RULE } from '../../../core/run/tag.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { editRun } from '../../store/changes/edit-run.ts';
import { readBody, type Member } from './json-body.ts';
import { Problem } from '../problem.ts';
import { readQuery } from './query.ts';
import { reading, requestedFinishedRun } from './requested-run.ts';
import { sendJson } from './send-json.ts';

const MAX_TAGS = 100;

const tags: Member<readonly string[]> = {
  allowed: [`at most ${MAX_TAGS} tags of ${TAG_RULE}`],
  parse: (value) =>
    Array.isArray(value) && value.length <= MAX_TAGS && value.every((tag) => typeof tag === 'string' && isTag(tag))
      ? (value as string[])
      : null,
  fallback: [],
};

/** `POST /runs/{run_id}/tags`: adds and removes tags, as `llmbench runs tag` does. */
export function changeTagsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const change = readBody(request, { add: tags, remove: tags });
    if (change.add.length + change.remove.length === 0) throw new Problem(400, 'add or remove must name a tag');
    const both = change.add.find((tag) => change.remove.includes(tag));
    if (both !== undefined) throw new Problem(400, `${both} is to be added and removed`);
    const { run } = await requestedFinishedRun(request, library);
    const changed = changedTags(run.tags, change);
    if (changed.length > MAX_TAGS) throw new Problem(400, `a run has at most ${MAX_TAGS} tags`);
    if ((await library.store.whyReadOnly()) !== null) throw new Problem(409, 'the runs are read-only here');
    const edited = await reading(library, () =>
      editRun(library.store, run.run_id, (file) => ({ ...file, tags: changedTags(file.tags, change) })),
    );
    await sendJson<ChangedTags>(request, response, { run_id: run.run_id, tags: edited.tags });
  };
}
