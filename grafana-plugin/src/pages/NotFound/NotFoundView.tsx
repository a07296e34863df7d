import { t } from '@grafana/i18n';
import { LinkButton, Stack, Text } from '@grafana/ui';
import React from 'react';
import { pageUrl, ROUTES } from '../../constants/routes.ts';

/** At an address of the app at which there is no page. */
export default function NotFoundView() {
  return (
    <Stack direction="column" gap={2} alignItems="flex-start">
      <Text color="secondary">
        {t('not-found.text', 'The address is mistyped, or the page has moved. A run’s page is at runs/ and its id.')}
      </Text>
      <LinkButton href={pageUrl(ROUTES.runs)} variant="secondary">
        {t('not-found.runs', 'All runs')}
      </LinkButton>
    </Stack>
  );
}
