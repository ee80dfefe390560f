// Fastify as every route of the service has it: bodies as bytes, queries as written, errors as problems,
// one line of log a request.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  fastify,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { notFound, type Problem, toProblem, unforeseen } from './problems.ts'
import { parseQuery } from './zaqar/query.ts'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

const MAX_HEADER_BYTES = 16_384

/** An app without routes. `logLevel`: pino's, `silent` included. */
export function createFastify(logLevel: string): App {
  const app: App = fastify({
    logger: { level: logLevel },
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    // Too long a name is the caller's mistake, not an unknown path.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
  takeBodiesAsBytes(app)
  app.setErrorHandler<FastifyError>(sendError)
  app.setNotFoundHandler((request, reply) => send(reply, notFound(`There is nothing at ${pathOf(request)}.`)))
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request
    request.log.info(
      { method, path: pathOf(request), status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    )
  })
  return app
}

function takeBodiesAsBytes(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = toProblem(error)
  if (problem === null) request.log.error({ err: error }, 'unforeseen error')
  else if (problem.status >= 500) request.log.warn({ reason: String(error) }, 'the store failed')
  return send(reply, problem ?? unforeseen())
}

function send(reply: FastifyReply, { status, headers, title, message }: Problem): FastifyReply {
  return reply.code(status).headers(headers).send({ title, description: message })
}

/** Without the query: what it holds is nobody's business in a log. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}
