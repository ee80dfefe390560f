// Whether a URL may be a subscriber. Its address is checked here, so that the client gets an error, and again with each
// push, because a name may lead elsewhere later.

import { isIP } from 'node:net'
import { badRequest } from '../../http/answers/problems.ts'
import { type AddressRange, mayReach } from '../addresses/guard.ts'
import { type Names, names as namesOfProcess } from '../addresses/names.ts'
import { hostOf } from './webhook.ts'

const MAX_LENGTH = 2048
const LOOKUP_MS = 1000
const FIRST_FREE_PORT = 1024 // below it, protocols other than HTTP are common

/** Throws a Problem. A host that cannot be resolved now is checked by the pushes. */
export async function checkSubscriber(
  text: string,
  allowed: readonly AddressRange[],
  names: Names = namesOfProcess,
): Promise<void> {
  const url = parseSubscriber(text)
  const addresses = isIP(hostOf(url)) === 0 ? await addressesOf(hostOf(url), names) : [hostOf(url)]
  if (!addresses.every((address) => mayReach(address, allowed))) {
    throw badRequest('subscriber must lead to a public address.')
  }
}

function parseSubscriber(text: string): URL {
  // Spaces and control characters would be dropped silently, and backslashes converted.
  const plain = text.length <= MAX_LENGTH && /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text)
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (!plain || /[\u0000-\u0020\u007f]/.test(text))
    throw badRequest('subscriber must be an http or https URL.')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw badRequest('subscriber must not contain a password.')
  if (isIP(url.hostname) === 4 && !isWrittenIn(text, url.hostname)) {
    throw badRequest('subscriber must write an address as four decimal numbers.')
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (port < FIRST_FREE_PORT && port !== 80 && port !== 443) {
    throw badRequest('subscriber must have port 80, 443, or one above 1023.')
  }
  return url
}

/** `http://0x7f.1/` means 127.0.0.1 in a disguised form. */
function isWrittenIn(text: string, address: string): boolean {
  const authority = text.split('/', 3)[2]?.split(/[?#]/, 1)[0] ?? ''
  return authority.replace(/:\d*$/, '') === address
}

/** Empty if nothing is known now. */
async function addressesOf(host: string, names: Names): Promise<string[]> {
  try {
    return (await names.addressesOf(host, LOOKUP_MS)).map(({ address }) => address)
  } catch {
    return []
  }
}
