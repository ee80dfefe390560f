// Debian's archive over HTTP. A suite's index is checked against its Release, that against Debian's keys, and every
// file against the index.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { type Index, type Package, parseIndex } from './index.ts'

export const MIRROR = 'https://deb.debian.org/debian'
export const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

const INDEX = 'main/binary-amd64/Packages.xz'
const TRIES = 3
const LIMIT_MS = 120_000

export class Archive {
  readonly #mirror: string
  readonly #keyring: string
  readonly #say: (line: string) => void
  readonly #indexes = new Map<string, Promise<Index>>()

  constructor(mirror: string, keyring: string, say: (line: string) => void) {
    this.#mirror = mirror
    this.#keyring = keyring
    this.#say = say
  }

  /** Of one suite such as `sid`; fetched once. */
  indexOf(suite: string): Promise<Index> {
    const known = this.#indexes.get(suite) ?? this.#fetchIndex(suite)
    this.#indexes.set(suite, known)
    return known
  }

  /** The file of a package, which is what its index says. */
  async fetchPackage({ file, sha256 }: Package): Promise<Buffer> {
    return checked(file, await this.#fetch(file), sha256)
  }

  async #fetchIndex(suite: string): Promise<Index> {
    const signed = await this.#fetch(`dists/${suite}/InRelease`)
    await this.#checkSignature(suite, signed)
    const sha256 = hashIn(signed.toString('utf8'), INDEX)
    if (sha256 === undefined) throw new Error(`the Release of ${suite} does not name ${INDEX}`)
    // By its hash, as the file of this name may change in between.
    const byHash = INDEX.replace(/[^/]+$/, `by-hash/SHA256/${sha256}`)
    const packed = checked(INDEX, await this.#fetch(`dists/${suite}/${byHash}`), sha256)
    return parseIndex(await unpacked(packed))
  }

  async #checkSignature(suite: string, signed: Buffer): Promise<void> {
    if (!existsSync(this.#keyring)) {
      this.#say(`the signature of ${suite} is not checked: there is no ${this.#keyring}`)
      return
    }
    const verdict = await verdictOf(this.#keyring, signed)
    if (verdict === null) this.#say(`the signature of ${suite} is not checked: gpgv is not installed`)
    // One of its keys may be newer than this machine's keyring.
    else if (!/^\[GNUPG:\] VALIDSIG /m.test(verdict) || verdict.includes('[GNUPG:] BADSIG '))
      throw new Error(`the Release of ${suite} is not signed by a key of ${this.#keyring}`)
  }

  async #fetch(path: string): Promise<Buffer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fetchOnce(`${this.#mirror}/${path}`)
      } catch (error) {
        if (error instanceof Refusal || attempt === TRIES)
          throw new Error(`${path}: ${reasonOf(error)}`, { cause: error })
      }
    }
  }
}

/** The server's answer, which another try does not change. */
class Refusal extends Error {}

async function fetchOnce(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) })
  if (response.status >= 500) throw new Error(`the mirror answered ${response.status}`)
  if (!response.ok) throw new Refusal(`the mirror answered ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

function checked(file: string, bytes: Buffer, sha256: string): Buffer {
  const actual = createHash('sha256').update(bytes).digest('hex')
  if (actual !== sha256) throw new Error(`${file} has the SHA-256 ${actual}, not ${sha256}`)
  return bytes
}

/** Of one file that a Release names under `SHA256:`. */
function hashIn(release: string, file: string): string | undefined {
  const lines = /^SHA256:\n((?: .*\n)*)/m.exec(release)?.[1]?.split('\n') ?? []
  const fields = lines.map((line) => line.trim().split(/\s+/))
  return fields.find(([, , name]) => name === file)?.[0]
}

async function unpacked(bytes: Buffer): Promise<string> {
  const xz = spawn('xz', ['-dc'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const absent = once(xz, 'error').then(() => Promise.reject(new Error('xz is not installed (xz-utils)')))
  xz.stdin.on('error', () => undefined)
  xz.stdin.end(bytes)
  return Promise.race([absent, text(xz.stdout)])
}

/** What gpgv reports; null where it is not installed. */
async function verdictOf(keyring: string, signed: Buffer): Promise<string | null> {
  const gpgv = spawn('gpgv', ['--keyring', keyring, '--status-fd', '1', '-'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const absent = once(gpgv, 'error').then(() => null)
  gpgv.stdin.on('error', () => undefined)
  gpgv.stdin.end(signed)
  return Promise.race([absent, text(gpgv.stdout)])
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error instanceof Error ? error.message : String(error)}${cause}`
}
