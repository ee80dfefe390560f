import { createHash } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import { checkText, checkWellFormed } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'

const MAX_FINGERPRINT_BYTES = 512

/**
 * A fingerprint that distinguishes requests: SHA-256 over the parts, each preceded by its length, so that `('ab',
 * 'c')` and `('a', 'bc')` differ. Returns 64 hexadecimal digits. Throws InvalidArgumentError for a part that is
 * neither well-formed text nor bytes.
 */
export function fingerprintOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) {
    if (typeof part !== 'string' && !isUint8Array(part)) {
      throw new InvalidArgumentError('parts', 'must be strings or bytes')
    }
    const bytes = typeof part === 'string' ? Buffer.from(checkWellFormed('parts', part)) : part
    hash.update(`${bytes.byteLength}:`).update(bytes)
  }
  return hash.digest('hex')
}

/** Empty for undefined. Throws InvalidArgumentError. */
export function checkFingerprint(fingerprint: string | undefined): string {
  return fingerprint === undefined ? '' : checkText('fingerprint', fingerprint, MAX_FINGERPRINT_BYTES)
}
