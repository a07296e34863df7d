import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { ClipboardButton, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';

interface Props {
  title: string;
  text: string;
  /** Takes the whole width of the grid. */
  isWide?: boolean;
  /** Long lines continue on the next one; otherwise the box scrolls. */
  wraps?: boolean;
}

/** A snippet with a copy button. */
export function SnippetBox({ title, text, isWide = false, wraps = false }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <figure className={cx(styles.box, isWide && styles.wide)}>
      <figcaption className={styles.head}>
        <span>{title}</span>
        <ClipboardButton
          getText={() => text}
          size="sm"
          variant="secondary"
          icon="copy"
          aria-label={t('snippet.copy-what', 'Copy: {{title}}', { title })}
        >
          {t('snippet.copy', 'Copy')}
        </ClipboardButton>
      </figcaption>
      <pre className={cx(styles.text, wraps && styles.wraps)} tabIndex={0} role="group" aria-label={title}>
        {wraps ? words(text, styles.word) : text}
      </pre>
    </figure>
  );
}

/** A line ends between words, not at the hyphens of an option. */
function words(text: string, className: string): ReactNode {
  return text.split(/(\s+)/).map((part, i) =>
    i % 2 === 0 ? (
      <span key={i} className={className}>
        {part}
      </span>
    ) : (
      part
    )
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  box: css({ margin: 0, minWidth: 0 }),
  wide: css({ gridColumn: '1 / -1' }),
  head: css({
    display: 'flex',
    justifyContent: 'space-between',
    alignItems: 'center',
    gap: theme.spacing(1),
    marginBottom: theme.spacing(0.5),
  }),
  text: css({
    fontSize: theme.typography.bodySmall.fontSize,
    overflow: 'auto',
    whiteSpace: 'pre',
    wordBreak: 'normal',
    margin: 0,
  }),
  wraps: css({ '&&': { whiteSpace: 'pre-wrap' } }),
  word: css({ display: 'inline-block', maxWidth: '100%', overflowWrap: 'anywhere' }),
});
