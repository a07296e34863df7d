import { expect, test } from '@jest/globals';
import { prometheusAccess } from './prometheus-options.ts';

test('a token variable that is not set is named with the option of a Prometheus', async () => {
  const options = {
    'prometheus-header': [],
    'prometheus-bearer-env': 'LLMBENCH_TEST_UNSET',
    'prometheus-tls-ca': null,
  };
  await expect(prometheusAccess(options)).rejects.toThrow(/--prometheus-bearer-env.*LLMBENCH_TEST_UNSET/);
});
