import { showAddress, showPlace } from '../address.ts'
import type { Check } from '../check.ts'
import { SentinelError } from '../discovery.ts'
import { combine, fail, type Finding, listed, ok, unknown, warn } from '../finding.ts'
import { SilentError } from '../in-time.ts'
import { messageOf } from '../link.ts'
import type { Server, Unreached } from '../server.ts'
import { count } from '../words.ts'

interface Reason {
  readonly why: string
  readonly mend: string
}

/** By the code of a network error, or the first word of a reply. */
const REASONS: ReadonlyMap<string, Reason> = new Map([
  [
    'ECONNREFUSED',
    { why: 'nothing listens there', mend: 'Start the server, or correct the host and the port.' },
  ],
  ['ENOTFOUND', { why: 'its name has no address', mend: 'Correct the host name, or its DNS entry.' }],
  ['EAI_AGAIN', { why: 'the name service does not answer', mend: 'Check the DNS of this machine.' }],
  ['EHOSTUNREACH', { why: 'no route leads there', mend: 'Check the network and the firewall.' }],
  ['ENETUNREACH', { why: 'no route leads there', mend: 'Check the network and the firewall.' }],
  ['ETIMEDOUT', { why: 'it does not answer', mend: 'Check the network and the firewall.' }],
  [
    'NOAUTH',
    { why: 'it wants a password', mend: 'Write the password into the URL: redis://:PASSWORD@host.' },
  ],
  [
    'WRONGPASS',
    { why: 'it rejects this user or password', mend: 'Correct the user and the password in the URL.' },
  ],
  [
    'DENIED',
    {
      why: 'it is in protected mode and accepts only clients of its own machine',
      mend: 'Set a password for its users, then turn protected-mode off.',
    },
  ],
])

const TLS_REFUSED: Reason = {
  why: 'this machine rejects its certificate (see TLS)',
  mend: 'Mend the certificate, or name its authority with --ca FILE.',
}

const NO_TLS: Reason = {
  why: 'it does not speak TLS on this port',
  mend: 'Use redis:// for this port, or the TLS port of the server.',
}

const WANTS_TLS: Reason = {
  why: 'it closes the connection without an answer',
  mend: 'If the port wants TLS, use rediss://. Otherwise check what listens there, and maxclients.',
}

export const reach: Check = {
  id: 'reach',
  title: 'Connection',
  essential: true,
  examine(server) {
    const { topology, unreached } = server.found
    const findings = unreached.map((each) => findingOf(each, server))
    if (server.nodes.length > 0) {
      const names = server.nodes.map(({ name }) => name)
      const reached = `The doctor reached ${count(names.length, 'server')}: ${listed(names)}.`
      return combine([ok(reached), ...findings], { topology, reached: names })
    }
    if (topology === 'sentinel') {
      const name = server.options.address.masterName
      const why = `The Sentinels do not know a primary named ${name}.`
      findings.push(fail(why, 'Correct the name at the end of the URL: redis+sentinel://host:26379/NAME.'))
    }
    return combine(findings, { topology, reached: [] })
  },
}

function findingOf(unreached: Unreached, server: Server): Finding {
  const name = showPlace(unreached.place)
  const { why, mend } = reasonOf(unreached.error, server)
  const details = { unreached: [name] }
  const sentence = `The doctor did not reach ${name}: ${why}.`
  // Programs do not need one that only other servers name; in a container its address may be of another network.
  if (unreached.role === 'replica') return unknown(`${sentence} It is a replica.`, mend, details)
  const others = server.nodes.length > 0 && unreached.role !== 'primary'
  return others ? warn(sentence, mend, details) : fail(sentence, mend, details)
}

function reasonOf(error: unknown, server: Server): Reason {
  const message = messageOf(error)
  const code = String(Object(error).code ?? '')
  if (error instanceof SentinelError) return ofSentinel(error, server)
  if (error instanceof SilentError || message.includes('ETIMEDOUT')) {
    const notTls = server.options.address.tls ? 'If the port does not speak TLS, use redis://. ' : ''
    const mend = `${notTls}Check whether the server hangs (a long script, a full disk, SIGSTOP), and the firewall.`
    return { why: `it gave ${message.startsWith('no answer') ? message : 'no answer in time'}`, mend }
  }
  const known = REASONS.get(code) ?? REASONS.get(message.split(' ', 1)[0] ?? '')
  if (known !== undefined) return known
  const { tls } = server.options.address
  if (tls && isCertificateError(code)) return TLS_REFUSED
  if (tls && /WRONG_VERSION|EPROTO|ECONNRESET|disconnected before secure/.test(`${code} ${message}`))
    return NO_TLS
  if (/ECONNRESET|closed/i.test(`${code} ${message}`)) return WANTS_TLS
  return { why: message.replaceAll(/\s+/g, ' '), mend: 'Check the URL and the log of the server.' }
}

function ofSentinel({ names }: SentinelError, server: Server): Reason {
  const { address } = server.options
  const urls = names.map((masterName) => showAddress({ ...address, topology: 'sentinel', masterName, db: 0 }))
  const url = urls.length > 0 ? urls.join(' or ') : 'redis+sentinel://host:26379/NAME'
  return { why: 'it is a Sentinel, which holds no data', mend: `Use ${url}.` }
}

/** Codes of Node and OpenSSL that reject what the server shows. */
export function isCertificateError(code: string): boolean {
  return /^CERT_|CERT$|SIGNED|ALTNAME|_IN_CHAIN|LEAF_SIGNATURE|^ERR_TLS_CERT|ISSUER/.test(code)
}
