// The possible losses of a fault: the stated class of the deployment, as spans of time.

import { nowUs } from './clock.ts'

export interface Span {
  readonly fromUs: number
  readonly untilUs: number
}

export interface Terms {
  /** Some or all servers could not be reached: calls that can do without them did. */
  readonly trouble: readonly Span[]
  /** Writes acknowledged in this span may be lost: they were not replicated, or an older copy was put back. */
  readonly losses: readonly Span[]
  /** The server's clock was set: leases that were live then may have ended early, and windows may have passed. */
  readonly leaps: readonly Span[]
  /** A process of the run stood still. */
  readonly stops: readonly (Span & { readonly process: number })[]
}

/** The terms of a fault, collected while it continues. */
export class Deal implements Terms {
  readonly trouble: Span[] = []
  readonly losses: Span[] = []
  readonly leaps: Span[] = []
  readonly stops: (Span & { process: number })[] = []

  /** Adds the time that something takes to one of the lists, and `moreMs` of the time before it. */
  async during(list: 'trouble' | 'losses' | 'leaps', act: () => Promise<void>, moreMs = 0): Promise<void> {
    const fromUs = nowUs() - moreMs * 1000
    try {
      await act()
    } finally {
      this[list].push({ fromUs, untilUs: nowUs() })
    }
  }
}

export function meets(spans: readonly Span[], fromUs: number, untilUs: number): boolean {
  return spans.some((span) => span.fromUs <= untilUs && fromUs <= span.untilUs)
}

/** Whether calls in this time may have been lost or cut short. */
export function isExcused({ losses, leaps }: Terms, fromUs: number, untilUs: number): boolean {
  return meets(losses, fromUs, untilUs) || meets(leaps, fromUs, untilUs)
}
