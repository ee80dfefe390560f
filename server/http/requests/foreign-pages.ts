// Pages in a browser. A page of any origin may send requests to a service on its reader's machine or in its reader's network: the browser
// does not let it see the answers, but the requests would have their effect. It says whose page it is.

import type { FastifyInstance } from 'fastify'
import { forbidden } from '../answers/problems.ts'

const FOREIGN =
  'Pages of another origin may not use this service: the request has an Origin that is not its own.'

export function refuseForeignPages(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onRequest', async ({ raw }) => {
    const { origin, host = '' } = raw.headers
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) throw forbidden(FOREIGN)
  })
}

/** Null where a browser hides the origin, or it is none. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
