// Bodies are JSON in UTF-8 and nothing else. Their text is kept, so that the content of messages is sent unchanged.

import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { takesTooLong, TOO_MUCH } from '../../json/effort.ts'
import { outlineOf } from '../../json/outline.ts'
import { isJsonInSteps } from '../../json/validity.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent; empty if there was none. */
    jsonText: string
  }
  interface FastifyContextConfig {
    /**
     * Members that the route stores as text and never reads, or `whole` for the body itself. In a large body they are
     * null.
     */
    documents?: readonly string[] | 'whole'
  }
}

/** A smaller body takes too little time to be parsed in parts. */
const LARGE_BYTES = 65_536

export function takeJsonOnly(app: App): void {
  app.decorateRequest('jsonText', '')
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer' } as const
  app.addContentTypeParser('application/json', options, async (request: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return undefined
    await app.bodyTurns.take(request, body)
    if (!isUtf8(body)) throw new InvalidArgumentError('body', 'must be UTF-8')
    if (takesTooLong(body)) throw new InvalidArgumentError('body', TOO_MUCH)
    await app.bodyTurns.step(request)
    request.jsonText = body.toString('utf8')
    const { documents } = request.routeOptions.config
    if (documents === undefined || body.length < LARGE_BYTES) return parse(request.jsonText)
    const step = (): Promise<void> => app.bodyTurns.step(request)
    if (!(await isJsonInSteps(body, step))) throw notJson()
    await step()
    if (documents === 'whole') return null
    const outline = outlineOf(request.jsonText, documents)
    await step()
    return parse(outline)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw notJson()
  }
}

function notJson(): InvalidArgumentError {
  return new InvalidArgumentError('body', 'must be JSON')
}
