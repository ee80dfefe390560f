// ioredis (5.11.1 and 6.0.0) with `failoverDetector: true` ends for good when a Sentinel tells of a failover while the client, whose
// connection has broken, asks a Sentinel for the primary: the detector of the old connection closes what is not there yet,
// and the attempt to connect takes that for the wish of its user.

import type { Redis } from 'ioredis'

/** What no type of ioredis tells. */
interface Inside {
  /** True from a `disconnect()` or `quit()` of the user until the connection has closed. */
  readonly manuallyClosing?: boolean
  readonly connector?: { readonly failoverDetector?: { readonly isDisconnected?: boolean } | null }
}

/** Connects again whenever it has ended so. Returns how to stop. */
export function connectThroughFailovers(client: Redis): () => void {
  if (client.options.failoverDetector !== true) return () => undefined
  /** False once the detector has done its work: then the end has another reason. */
  let mayBeEnded = false
  const onConnecting = (): void => {
    mayBeEnded = !hasDetected(client) && !isClosedByUser(client)
  }
  const onClose = (): void => {
    mayBeEnded = false
  }
  const onEnd = (): void => {
    const isMistaken = mayBeEnded && hasDetected(client) && !isClosedByUser(client)
    mayBeEnded = false
    if (isMistaken) client.connect().catch(() => undefined) // it goes on trying by itself
  }
  client.on('connecting', onConnecting).on('close', onClose).on('end', onEnd)
  return () => client.off('connecting', onConnecting).off('close', onClose).off('end', onEnd)
}

function hasDetected(client: Redis): boolean {
  return inside(client).connector?.failoverDetector?.isDisconnected === true
}

function isClosedByUser(client: Redis): boolean {
  return inside(client).manuallyClosing === true
}

function inside(client: object): Inside {
  return client
}
