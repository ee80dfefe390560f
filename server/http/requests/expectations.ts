// What a client expects of the service before it sends a body: that it is told to go on, which Node does, and nothing else.

import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { InvalidArgumentError } from 'perilune'

export function refuseOtherExpectations(app: Pick<FastifyInstance, 'addHook'>, server: Server): void {
  // Node would answer by itself, without a word.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  app.addHook('onRequest', async ({ raw }) => {
    const { expect = '100-continue' } = raw.headers
    if (expect.toLowerCase() !== '100-continue')
      throw new InvalidArgumentError('Expect', 'must be 100-continue')
  })
}
