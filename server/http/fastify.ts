// Fastify for every route of the service: bodies as bytes, queries as written, errors as problems, one log line per
// request.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type RawServerDefault,
} from 'fastify'
import { Bodies, boundBodies } from './bodies/bodies.ts'
import { refuseOtherForms } from './bodies/forms.ts'
import { takeBodiesInTurn } from './bodies/turns.ts'
import { BrokenRequests, TOO_LATE } from './requests/broken.ts'
import { carryOutInOrder } from './requests/in-order.ts'
import { refuseForeignPages } from './requests/foreign-pages.ts'
import { LEFT } from './requests/left.ts'
import { AnswerPieces } from './answers/pieces.ts'
import { notFound, toProblem, unforeseen } from './answers/problems.ts'
import { refuseOtherExpectations } from './requests/expectations.ts'
import { refuseRepeatedHeaders } from './requests/single-headers.ts'
import { passOverUnreadBodies } from './bodies/unread.ts'
import { COUNTED_BYTES, type Unsent } from './answers/unsent.ts'
import { closeUnusedConnections } from './requests/unused-connections.ts'
import { DEFAULT_TENANT, prefixOf } from './requests/tenant.ts'
import { toProblemAnswer, unforeseenAnswer } from './answers/problem-documents.ts'
import { parseQuery } from './requests/query.ts'
import { methodOf, routeOtherMethodsAsOne } from './requests/methods.ts'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

const MAX_HEADER_BYTES = 16_384

/** The destination of the log; by default the standard output. */
export interface LogTarget {
  write(line: string): void
}

export interface AppTerms {
  /** After how many milliseconds an incomplete request is ended with 408. */
  readonly requestTimeoutMs: number | undefined
  readonly unsent: Unsent
  readonly logTarget?: LogTarget | undefined
}

/** An app without routes. `logLevel`: a level of pino, including `silent`. */
export function createFastify(
  logLevel: string,
  { requestTimeoutMs = 30_000, unsent, logTarget }: AppTerms,
): App {
  const broken = new BrokenRequests()
  const app: App = fastify({
    logger: { level: logLevel, ...(logTarget === undefined ? {} : { stream: logTarget }) },
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    requestTimeout: requestTimeoutMs,
    // Node uses the greater of the two for the whole request; the default is a minute for the headers.
    http: {
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
      // Node would end the connection with its answer, but process the requests after it.
      requireHostHeader: false,
    },
    connectionTimeout: 60_000,
    // A name that is too long is the caller's mistake, not an unknown path.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, querystringParser: parseQuery },
    clientErrorHandler: (error, socket) => broken.answer(error, socket),
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
  broken.watch(app.server)
  routeOtherMethodsAsOne(app.server)
  closeUnusedConnections(app, app.server)
  carryOutInOrder(app)
  countUnsent(app, unsent)
  refuseRepeatedHeaders(app, app.server)
  refuseOtherExpectations(app, app.server)
  refuseForeignPages(app)
  refuseOtherForms(app)
  passOverUnreadBodies(app, endConnectionsWhenClosing(app))
  boundBodies(app, new Bodies({ giveUp: ({ socket }) => broken.answer(TOO_LATE, socket) }), shareOfRequest)
  takeBodiesInTurn(app, shareOfRequest)
  takeBodiesAsBytes(app)
  app.setErrorHandler<FastifyError>(sendError)
  app.setNotFoundHandler((request, reply) =>
    sendError(notFound(`There is nothing at ${pathOf(request)}.`), request, reply),
  )
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: methodOf(request.raw),
        path: pathOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
  })
  return app
}

/**
 * An answer in progress when the service closes is the last one on its connection; otherwise closing would wait.
 * Returns a function that says whether the service closes.
 */
function endConnectionsWhenClosing(app: App): () => boolean {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('Connection', 'close')
  })
  return () => closing
}

function countUnsent(app: App, unsent: Unsent): void {
  app.addHook('preClose', async () => unsent.close())
  app.addHook('onSend', (request, reply, payload, done) => {
    const pieces = piecesOf(payload)
    if (pieces === null) return done(null, payload)
    if (pieces.bytes !== null) {
      reply.header('Content-Length', pieces.bytes)
      pieces.notGone = () => reply.raw.writableLength
    }
    unsent.add(shareOfRequest(request), reply.raw, pieces.bytes ?? 0, () => pieces.left)
    done(null, pieces)
  })
}

/**
 * Null if it is small. As bytes, because Node takes several times as long to write a large text, and keeps the memory
 * of the text as well.
 */
function piecesOf(payload: unknown): AnswerPieces | null {
  if (payload instanceof AnswerPieces) return payload
  const bytes =
    typeof payload === 'string' && payload.length >= COUNTED_BYTES ? Buffer.from(payload) : payload
  return Buffer.isBuffer(bytes) && bytes.length >= COUNTED_BYTES ? AnswerPieces.ofBytes(bytes) : null
}

/** Like `shareOf` of a key. */
function shareOfRequest(request: FastifyRequest): string {
  if (request.tenant !== undefined) return request.tenant.scope
  return prefixOf(request.headers['x-project-id']?.toString() ?? DEFAULT_TENANT).slice(0, -1)
}

function takeBodiesAsBytes(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    await app.bodyTurns.take(request, body)
    return body
  })
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error === LEFT) return reply.hijack()
  const answer = /^\/v1(?:[/?]|$)/.test(request.url) ? nativeAnswer(error) : zaqarAnswer(error)
  if (answer.status === 500) request.log.error({ err: error }, 'unforeseen error')
  else if (answer.status > 500) request.log.warn({ reason: String(error) }, 'the store failed')
  return reply.code(answer.status).headers(answer.headers).type(answer.type).send(answer.body)
}

interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly type: string
  readonly body: object
}

function nativeAnswer(error: unknown): ErrorAnswer {
  const { headers, document } = toProblemAnswer(error) ?? unforeseenAnswer()
  return { status: document.status, headers, type: 'application/problem+json', body: document }
}

function zaqarAnswer(error: unknown): ErrorAnswer {
  const { status, headers, title, message } = toProblem(error) ?? unforeseen()
  return { status, headers, type: 'application/json; charset=utf-8', body: { title, description: message } }
}

/** Without the query, whose content does not belong in a log. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}
