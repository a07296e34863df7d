// fast-check as the tests import it (see jest.config.mjs): with the same seed in every run, so that a test fails because of
// a change and not by chance. PROPERTY_SEED=N sets another seed, PROPERTY_SEED=fresh lets fast-check draw one per property.
import fc from '../node_modules/fast-check/lib/fast-check.js';

const FIXED_SEED = 1;

const { PROPERTY_SEED = String(FIXED_SEED) } = process.env;
if (PROPERTY_SEED !== 'fresh') {
  if (!/^-?\d+$/.test(PROPERTY_SEED))
    throw new Error(`PROPERTY_SEED: neither a whole number nor "fresh": ${PROPERTY_SEED}`);
  fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
}

export * from '../node_modules/fast-check/lib/fast-check.js';
export default fc;
