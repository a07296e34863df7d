import { LinkButton, Stack, Text } from '@grafana/ui';
import React from 'react';
import { pageUrl, ROUTES } from '../../constants.ts';
import { t } from '../../text.ts';

/** At an address of the app at which there is no page. */
export default function NotFoundView() {
  return (
    <Stack direction="column" gap={2} alignItems="flex-start">
      <Text color="secondary">
        {t('not-found.text', 'The URL is incorrect, or the page has moved. The page of a run is at runs/RUN_ID.')}
      </Text>
      <LinkButton href={pageUrl(ROUTES.runs)} variant="secondary">
        {t('not-found.runs', 'All runs')}
      </LinkButton>
    </Stack>
  );
}
