import type { Tenant } from '../zaqar/headers.ts'

/** One queue of one project, and who asks. */
export interface Place {
  readonly tenant: Tenant
  readonly queue: string
}

/** Unlike that of any other queue of any project: a queue's name holds no slash. */
export function feedName({ tenant, queue }: Place): string {
  return `${tenant.scope}/${queue}`
}
