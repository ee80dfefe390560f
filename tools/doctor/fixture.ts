// Runs the command in tests, as a user would.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/servers/ports.ts'
import { onTestFinished } from 'vitest'
import { type RedisOptions, type RedisServer, startRedis } from '../../test/servers/redis.ts'
import { doctor } from './command.ts'
import type { CheckReport, Report } from './report.ts'

const ROOT = join(import.meta.dirname, '../..')

export interface Seen {
  readonly exitCode: number
  readonly report: Report
  /** Of one check: its state, why and mend. */
  of(id: string): CheckReport
  /** The states that are not ok. */
  readonly notOk: Readonly<Record<string, string>>
}

export async function examineAt(url: string, ...args: string[]): Promise<Seen> {
  const { exitCode, text } = await runDoctor(url, '--json', ...args)
  const report = JSON.parse(text) as Report
  const of = (id: string): CheckReport => {
    const found = report.checks.find((check) => check.id === id)
    if (found === undefined) throw new Error(`there is no check ${id}`)
    return found
  }
  const strange = report.checks.filter(({ state, ignored }) => state !== 'ok' && !ignored)
  return { exitCode, report, of, notOk: Object.fromEntries(strange.map(({ id, state }) => [id, state])) }
}

/** What depends on the machine of the tests: the version of its server, and its speed. */
export const ANY_MACHINE = ['--ignore', 'version,latency'] as const

/** Ends with the test. A busy machine makes calls slow, so its slow log is off unless `args` turn it on. */
export async function server(
  { args = [], ...options }: RedisOptions = { aof: 'everysec' },
): Promise<RedisServer> {
  const redis = await startRedis({ ...options, args: ['--slowlog-log-slower-than', '-1', ...args] })
  onTestFinished(() => redis.stop())
  return redis
}

export async function runDoctor(...args: string[]): Promise<{ exitCode: number; text: string }> {
  let text = ''
  const exitCode = await doctor(args, ROOT, { write: (part) => (text += part), columns: 100 })
  return { exitCode, text }
}

export interface TlsServer extends AsyncDisposable {
  readonly redis: RedisServer
  readonly url: string
  /** The certificate, which signs itself. */
  readonly ca: string
}

/** `days`: how long its certificate is still valid; below 0 it has expired. */
export async function startTls(days: number): Promise<TlsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-doctor-'))
  const { key, ca } = makeCertificate(folder, days)
  const port = await freePort()
  const files = ['--tls-cert-file', ca, '--tls-key-file', key, '--tls-ca-cert-file', ca]
  const redis = await startRedis({ args: ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'] })
  return {
    redis,
    ca,
    url: `rediss://localhost:${port}`,
    async [Symbol.asyncDispose]() {
      await redis.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

const CONFIG = `[req]
distinguished_name = name
prompt = no
[name]
CN = localhost
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = DNS:localhost, IP:127.0.0.1
basicConstraints = critical, CA:true
`

/** Only `openssl ca` lets one choose the day of the end, also in the past. */
function makeCertificate(folder: string, days: number): { key: string; ca: string } {
  const openssl = (...args: string[]): unknown =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  writeFileSync(join(folder, 'own.cnf'), CONFIG)
  writeFileSync(join(folder, 'index.txt'), '')
  const config = ['-config', 'own.cnf', '-batch']
  openssl('req', '-new', ...config, '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'own.csr')
  const span = ['-startdate', dayFromNow(-1000), '-enddate', dayFromNow(days)]
  openssl('ca', ...config, '-selfsign', '-keyfile', 'key.pem', '-in', 'own.csr', '-out', 'cert.pem', ...span)
  return { key: join(folder, 'key.pem'), ca: join(folder, 'cert.pem') }
}

/** `20260131235959Z`. */
function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
}
