// How a body is encoded: in UTF-8, without compression. A body that declares anything else is rejected instead of
// misread.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { unsupportedMediaType } from '../answers/problems.ts'

const ACCEPTED = 'application/json in UTF-8, without a Content-Encoding'
const CHARSETS = new Set(['utf-8', 'utf8', 'us-ascii'])

export function refuseOtherForms(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onRequest', async ({ raw }) => {
    if (!hasBody(raw)) return
    const { 'content-encoding': encoding = '', 'content-type': type = '' } = raw.headers
    if (!/^(?:identity)?$/i.test(encoding.trim())) throw unsupportedMediaType(ACCEPTED)
    const charset = charsetOf(type)
    if (charset !== null && !CHARSETS.has(charset)) throw unsupportedMediaType(ACCEPTED)
  })
}

/** Whether the head of a request announces a body of at least one byte. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Null if none is named. */
function charsetOf(type: string): string | null {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/i.exec(type) ?? []
  return (quoted ?? plain ?? null)?.toLowerCase() ?? null
}
