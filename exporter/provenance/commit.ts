import type { CommitFacts } from '../../core/run/provenance.ts';
import { isCommit } from './ci-job.ts';
import { programOutput } from './program-output.ts';

/** The commit that is checked out in a folder; null: there is none, or no git. */
export async function checkedOutCommit(folder: string): Promise<CommitFacts | null> {
  const commit = (await programOutput('git', ['-C', folder, 'rev-parse', 'HEAD']))?.trim() ?? '';
  if (!isCommit(commit)) return null;
  const changes = await programOutput('git', ['-C', folder, 'status', '--porcelain', '--untracked-files=no']);
  return { commit, dirty: changes === null ? null : changes.trim() !== '' };
}
