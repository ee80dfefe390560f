import type { App } from '../fastify.ts'
import type { Limits } from '../limits.ts'
import { textOfBody } from '../zaqar/body.ts'
import { projectOf } from '../zaqar/headers.ts'
import { QueuePath } from '../zaqar/names.ts'
import { readShare } from '../zaqar/share.ts'
import type { Signer } from '../zaqar/signed-url.ts'

export function zaqarShare(app: App, signer: Signer, limits: Limits): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxOtherBody }
  app.post('/queues/:queue/share', options, async ({ params, headers, body }) => {
    const { expiresAtMs, ...share } = readShare(params.queue, textOfBody(body), Date.now())
    return signer.sign({ ...share, project: projectOf(headers) }, expiresAtMs)
  })
}
