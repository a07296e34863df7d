import { ownValue } from '../../core/text/nearest-names.ts';
/** Text that is already HTML; everything else in a template is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | readonly Part[];

/** A template that escapes its values, so that text of a run cannot become markup; null renders nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(strings.map((text, i) => (i === 0 ? text : `${rendered(values[i - 1] ?? null)}${text}`)).join(''));
}

function rendered(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(rendered).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escaped for element content and quoted attributes; characters that HTML forbids become the replacement character. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => ownValue(ENTITIES, character) ?? '')
    .replace(FORBIDDEN, '\u{fffd}');
}

/** Control characters other than tab and line ends. */
const FORBIDDEN = /(?![\t\n\r])\p{Cc}/gu;

/** A table in a card; a head that is a text becomes a cell. */
export function dataTable(heads: readonly (string | Html)[], rows: readonly Html[]): Html {
  const cells = heads.map((head) => (typeof head === 'string' ? html`<th>${head}</th>` : head));
  return html`<div class="card">
    <table class="data">
      ${
        heads.length === 0
          ? null
          : html`<thead>
              <tr>
                ${cells}
              </tr>
            </thead>`
      }
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div> `;
}

/** The head of a column: with a smaller line below, or of texts, which begin on the left. */
export const headBelow = (text: string, below: string): Html => html`<th>${text}<small>${below}</small></th>`;
export const headOfText = (text: string): Html => html`<th class="text">${text}</th>`;
