import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';

/** What the marks of drawings mean: a list of `Mark`s. */
export function MarkLegend({ label, children }: { label: string; children: ReactNode }) {
  const styles = useStyles2(getStyles);
  return (
    <ul className={styles.legend} aria-label={label}>
      {children}
    </ul>
  );
}

interface MarkProps {
  /** What the mark means. */
  text: ReactNode;
  /** Of the drawing, which is 12 high, in pixels. */
  width?: number;
  /** A mark that can be switched off. */
  toggle?: { isOn: boolean; onClick: () => void };
  /** The mark in SVG. */
  children: ReactNode;
}

export function Mark({ text, width = 16, toggle, children }: MarkProps) {
  const styles = useStyles2(getStyles);
  return (
    <li className={styles.mark}>
      <svg width={width} height={12} aria-hidden="true">
        {children}
      </svg>
      {toggle ? (
        <button type="button" className={styles.toggle} aria-pressed={toggle.isOn} onClick={toggle.onClick}>
          {text}
        </button>
      ) : (
        text
      )}
    </li>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  legend: css({
    ...theme.typography.bodySmall,
    listStyle: 'none',
    margin: 0,
    display: 'flex',
    flexWrap: 'wrap',
    gap: theme.spacing(0.5, 2),
  }),
  toggle: css({
    fontSize: 'inherit',
    background: 'none',
    border: 'none',
    padding: 0,
    textAlign: 'left',
    '&:hover': { textDecoration: 'underline' },
    '&[aria-pressed="false"]': { color: theme.colors.text.secondary, textDecoration: 'line-through' },
  }),
  mark: css({ display: 'inline-flex', alignItems: 'center', gap: theme.spacing(0.75), overflowWrap: 'anywhere' }),
});
