import { BlockList, isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { showPlace } from '../address.ts'
import { certificateAt } from '../certificate.ts'
import type { Check } from '../check.ts'
import { combine, fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import { messageOf } from '../link.ts'
import type { Node } from '../node.ts'
import type { Server, Unreached } from '../server.ts'
import { isCertificateError } from './reach.ts'

const DAY_MS = 86_400_000
/** A certificate is renewed in good time. */
const SOON_DAYS = 30

const RENEW = 'Renew the certificate, and load it with CONFIG SET tls-cert-file or a restart.'

/** Networks that no stranger listens to, as a rule. */
const PRIVATE = new BlockList()
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
] as const) {
  PRIVATE.addSubnet(network, prefix)
}
PRIVATE.addAddress('::1', 'ipv6')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addSubnet('fe80::', 10, 'ipv6')

export const tls: Check = {
  id: 'tls',
  title: 'TLS',
  essential: true,
  async examine(server) {
    if (!server.options.address.tls)
      return server.nodes.length === 0 ? notUsed() : overNodes(server.nodes, inTheClear)
    const refused = server.found.unreached.filter(({ error }) =>
      isCertificateError(String(Object(error).code ?? '')),
    )
    const findings = await Promise.all(refused.map((each) => ofRefused(each, server)))
    if (server.nodes.length > 0) findings.push(await overNodes(server.nodes, ofTrusted))
    return findings.length === 0 ? unknown('The doctor saw no certificate.') : combine(findings)
  },
}

function notUsed(): Finding {
  return ok('The URL does not ask for TLS.')
}

function inTheClear({ link }: Node): Finding {
  const address = link.remoteAddress ?? ''
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(address) === 0 || PRIVATE.check(address, family)) {
    return ok('The connection has no TLS and stays on this machine or in a private network.', { tls: false })
  }
  const why = `The connection to ${address} has no TLS: passwords and data cross a public network in the clear.`
  return warn(why, 'Let the server listen with TLS (tls-port), and use rediss://.', { tls: false })
}

function ofTrusted({ link }: Node): Finding {
  const certificate = link.certificate
  if (certificate === null) return unknown('The server showed no certificate.')
  const { days, day } = endOf(certificate)
  const details = detailsOf(certificate)
  if (days > SOON_DAYS) return ok(`The certificate is trusted and ends on ${day}, in ${days} days.`, details)
  return warn(`The certificate ends on ${day}, in ${days} days.`, RENEW, details)
}

async function ofRefused({ place, error }: Unreached, server: Server): Promise<Finding> {
  const { tls: files, timeoutMs } = server.options.access
  const name = showPlace(place)
  const code = String(Object(error).code)
  try {
    const certificate = await certificateAt(place, files ?? {}, timeoutMs)
    const { days, day } = endOf(certificate)
    const details = { ...detailsOf(certificate), refusedAs: code }
    if (days < 0) return fail(`The certificate of ${name} expired on ${day}.`, RENEW, details)
    return fail(`The certificate of ${name} is rejected: ${reasonFor(code, error)}.`, mendFor(code), details)
  } catch {
    return fail(`The certificate of ${name} is rejected: ${messageOf(error)}.`, mendFor(code), {
      refusedAs: code,
    })
  }
}

function reasonFor(code: string, error: unknown): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it is for another host name'
  if (code === 'CERT_NOT_YET_VALID') return 'it is not valid yet'
  if (/SELF_SIGNED|LEAF_SIGNATURE|ISSUER/.test(code))
    return 'this machine does not know the authority that signed it'
  return messageOf(error)
}

function mendFor(code: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'Use a host name that the certificate names, or issue one for this host.'
  }
  if (code === 'CERT_NOT_YET_VALID') return 'Compare the clocks of both machines, or wait.'
  return 'Name the authority with --ca FILE, and give it to your programs too.'
}

function endOf({ valid_to: end }: PeerCertificate): { days: number; day: string } {
  const endMs = Date.parse(end)
  const days = Math.floor((endMs - Date.now()) / DAY_MS)
  return { days, day: Number.isNaN(endMs) ? 'an unknown day' : new Date(endMs).toISOString().slice(0, 10) }
}

function detailsOf({
  valid_to: validTo,
  subject,
  issuer,
  subjectaltname,
}: PeerCertificate): Finding['details'] {
  return {
    tls: true,
    validTo: Number.isNaN(Date.parse(validTo)) ? null : new Date(validTo).toISOString(),
    subject: subject?.CN ?? null,
    issuer: issuer?.CN ?? null,
    names: subjectaltname ?? null,
  }
}
