// All of /v2, and the list of versions at the root.

import type { Perilune } from 'perilune'
import type { App } from '../http/fastify.ts'
import { Queues } from './queues/queues.ts'
import { Registry } from './queues/registry.ts'
import type { Readiness } from '../health/readiness.ts'
import { Webhooks } from './webhooks/webhooks.ts'
import { readTenant } from './requests/headers.ts'
import type { ZaqarSettings } from './settings/settings.ts'
import { Signer } from './requests/signed-url.ts'
import { refuseOtherMethods } from '../http/other-methods.ts'
import { zaqarClaims } from './routes/claims.ts'
import { zaqarHome, zaqarVersions } from './routes/home.ts'
import { zaqarMessages } from './routes/messages.ts'
import { zaqarPing } from './routes/ping.ts'
import { zaqarQueues } from './routes/queues.ts'
import { zaqarShare } from './routes/share.ts'
import { zaqarSubscriptions } from './routes/subscriptions.ts'

/** Time for background work to end when the service closes; the rest is done after the next start. */
const CLOSING_MS = 5000

export interface ZaqarParts {
  readonly perilune: Perilune
  readonly readiness: Readiness
  readonly settings: ZaqarSettings
}

interface OpenQueues {
  readonly queues: Queues
  readonly webhooks: Webhooks
}

export function zaqarV2(app: App, { perilune, readiness, settings }: ZaqarParts): void {
  const signer = openSigner(app, settings)
  const { queues, webhooks } = openQueues(app, perilune, signer, settings)
  const { limits } = settings
  app.register(async (root: App) => {
    refuseOtherMethods(root)
    zaqarVersions(root)
  })
  app.register(
    async (v2: App) => {
      // As in Zaqar, only pings answer HEAD.
      refuseOtherMethods(v2, (url) => url === `${v2.prefix}/ping`)
      v2.decorateRequest('tenant')
      v2.addHook('onRequest', async (request) => {
        request.tenant = readTenant(request.headers, limits)
        signer.check(request.headers, request.method, request.url.split('?', 1)[0] ?? '')
      })
      zaqarPing(v2, readiness)
      zaqarHome(v2)
      zaqarQueues(v2, queues, limits)
      zaqarShare(v2, signer, limits)
      zaqarMessages(v2, queues, limits)
      zaqarClaims(v2, queues, limits)
      zaqarSubscriptions(v2, queues, webhooks, settings)
    },
    { prefix: '/v2' },
  )
}

function openSigner(app: App, { signingSecret }: ZaqarSettings): Signer {
  if (signingSecret === null) {
    app.log.warn(
      'PERILUNE_SIGNING_SECRET is not set: pre-signed URLs and confirmations of subscriptions are only valid in this process, until it ends',
    )
  }
  return new Signer(signingSecret)
}

function openQueues(app: App, perilune: Perilune, signer: Signer, settings: ZaqarSettings): OpenQueues {
  const registry = new Registry(perilune, settings.limits)
  const webhooks = new Webhooks({
    perilune,
    registry,
    settings,
    sender: { signer, publicUrl: () => settings.publicUrl ?? app.listeningOrigin },
    onError: (err) => app.log.warn({ err }, 'webhooks'),
  })
  const queues = new Queues({
    perilune,
    registry,
    subscribers: webhooks,
    onError: (err) => app.log.error({ err }, 'dead letters stay where they are'),
  })
  app.addHook('onReady', async () => webhooks.start())
  app.addHook('onClose', () => Promise.all([webhooks.close(CLOSING_MS), queues.close(CLOSING_MS)]))
  return { queues, webhooks }
}
