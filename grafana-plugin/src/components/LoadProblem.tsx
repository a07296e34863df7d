import { Alert, Button, Stack } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { t } from '../text.ts';

interface Props {
  title: string;
  error: Error;
  onRetry: () => void;
  children?: ReactNode;
}

/** A load error with a retry button. */
export function LoadProblem({ title, error, onRetry, children }: Props) {
  return (
    <Alert severity="error" title={title}>
      <p>{error.message}</p>
      <Stack direction="row" gap={1}>
        <Button variant="secondary" size="sm" icon="sync" onClick={onRetry}>
          {t('problem.retry', 'Try again')}
        </Button>
        {children}
      </Stack>
    </Alert>
  );
}
