import { t } from './text.ts';

test('values are shown as they are', () => {
  expect(t('test.values', 'Servers: {{url}} {{limit}}', { url: 'http://gpu-1:8000', limit: '> 300 tokens/s' })).toBe(
    'Servers: http://gpu-1:8000 > 300 tokens/s'
  );
});
