// Pages in a browser. A page of any origin may send requests to a service on its reader's machine or in its reader's
// network. The browser hides the answers from it, but the requests would take effect. Its Origin header identifies the
// page.

import type { FastifyInstance } from 'fastify'
import { forbidden } from '../answers/problems.ts'

const FOREIGN =
  'Pages of another origin may not use this service: the Origin of the request is not that of the service.'

export function refuseForeignPages(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onRequest', async ({ raw }) => {
    const { origin, host = '' } = raw.headers
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) throw forbidden(FOREIGN)
  })
}

/** Null if a browser hides the origin, or it is not a URL. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
