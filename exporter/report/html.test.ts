import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Html, html } from './html.ts';

test('values are escaped, templates in templates are not escaped again', () => {
  const inner = html`<b>${'<i>&"\''}</b>`;
  expect(html`<p title="${'"x"'}">${inner}${[1, 'a<']}${null}</p>`.text).toBe(
    '<p title="&quot;x&quot;"><b>&lt;i&gt;&amp;&quot;&#39;</b>1a&lt;</p>',
  );
});

test('no text can end an element or an attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { text: page } = html`<p title="${text}">${text}</p>`;
      const inside = page.slice('<p title="'.length, -'</p>'.length);
      expect(inside.split('">')).toHaveLength(2);
      expect(inside.replace('">', '')).not.toMatch(/[<>"']/);
    }),
  );
});

test('characters that HTML forbids, and halves of characters, are replaced', () => {
  expect(html`${'a\u0000b\u001bc\ud800d\te\nf'}`.text).toBe('a\ufffdb\ufffdc\ufffdd\te\nf');
});

test('existing HTML is not escaped', () => {
  expect(html`${new Html('<br>')}`.text).toBe('<br>');
});
