import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Switch, useStyles2 } from '@grafana/ui';
import React, { useId } from 'react';

interface Props {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
}

/** A switch with its text beside it. */
export function LabeledSwitch({ label, value, onChange }: Props) {
  const id = useId();
  const styles = useStyles2(getStyles);
  return (
    <span className={styles.row}>
      <Switch id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <label htmlFor={id}>{label}</label>
    </span>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  row: css({
    ...theme.typography.bodySmall,
    display: 'inline-flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    color: theme.colors.text.secondary,
  }),
});
