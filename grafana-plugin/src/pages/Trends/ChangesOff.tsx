import { t } from '@grafana/i18n';
import { Alert, LinkButton } from '@grafana/ui';
import React from 'react';
import { SnippetBox } from '../../components/SnippetBox.tsx';
import { pageUrl, ROUTES } from '../../constants/routes.ts';
import { BASELINE_CHANGES } from '../Setup/snippets.ts';

/** How changes of baselines are switched on, where the exporter does not allow them. */
export function ChangesOff() {
  return (
    <>
      <Alert severity="info" title={t('baseline.off', 'The exporter does not allow changes')}>
        {t(
          'baseline.off-how',
          'Start it as below, and enter the token in the settings of the data source "llmbench runs". On the machine of the exporter, llmbench baseline changes it too.'
        )}
      </Alert>
      <SnippetBox title={t('baseline.off-command', 'Allow changes')} text={BASELINE_CHANGES} />
      <LinkButton variant="secondary" href={pageUrl(ROUTES.setup)}>
        {t('baseline.to-setup', 'Set up')}
      </LinkButton>
    </>
  );
}
