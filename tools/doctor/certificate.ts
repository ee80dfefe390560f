// The certificate of a server that this machine does not trust: only what it says, and nothing is sent.

import { isIP } from 'node:net'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import type { Place } from './address.ts'
import { inTime } from './in-time.ts'
import type { TlsFiles } from './link.ts'

export function certificateAt(place: Place, files: TlsFiles, timeoutMs: number): Promise<PeerCertificate> {
  let socket: TLSSocket | undefined
  const shown = new Promise<PeerCertificate>((resolve, reject) => {
    const servername = isIP(place.host) === 0 ? { servername: place.host } : {}
    socket = connect({ ...place, ...files, ...servername, rejectUnauthorized: false }, () => {
      resolve(socket?.getPeerCertificate() as PeerCertificate)
    })
    socket.on('error', reject)
  })
  return inTime(shown, timeoutMs).finally(() => socket?.destroy())
}
