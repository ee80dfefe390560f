// The Expect header of a request with a body: 100-continue, which Node answers, and nothing else.

import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { InvalidArgumentError } from 'perilune'

export function refuseOtherExpectations(app: Pick<FastifyInstance, 'addHook'>, server: Server): void {
  // Node would answer by itself, with an empty body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  app.addHook('onRequest', async ({ raw }) => {
    const { expect = '100-continue' } = raw.headers
    if (expect.toLowerCase() !== '100-continue')
      throw new InvalidArgumentError('Expect', 'must be 100-continue')
  })
}
