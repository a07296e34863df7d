// The jest transform: Node's own type stripping, so that tests run exactly what `node file.ts` runs.
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

// stripTypeScriptTypes announces itself as experimental once per process; under jest that is once per test file.
const emitWarning = process.emitWarning.bind(process);
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).includes('stripTypeScriptTypes')) emitWarning(warning, ...rest);
};

export default {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
  getCacheKey: (source, path) => createHash('sha1').update(process.version).update(path).update(source).digest('hex'),
};
