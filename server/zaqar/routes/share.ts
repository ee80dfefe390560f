import type { App } from '../../http/fastify.ts'
import type { Limits } from '../settings/limits.ts'
import { textOfBody } from '../requests/body.ts'
import { projectOf } from '../requests/headers.ts'
import { QueuePath } from '../requests/names.ts'
import { readShare } from './share-terms.ts'
import type { Signer } from '../requests/signed-url.ts'

export function zaqarShare(app: App, signer: Signer, limits: Limits): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxOtherBody }
  app.post('/queues/:queue/share', options, async ({ params, headers, body }) => {
    const { expiresAtMs, ...share } = readShare(params.queue, textOfBody(body), Date.now())
    return signer.sign({ ...share, project: projectOf(headers) }, expiresAtMs)
  })
}
