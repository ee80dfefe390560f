// A read that somebody waits for.

export class Waiting {
  readonly key: string
  readonly mayBeLarge: boolean
  readonly promise: Promise<Buffer | null>
  resolve!: (bytes: Buffer | null) => void
  reject!: (error: unknown) => void

  constructor(key: string, mayBeLarge: boolean) {
    this.key = key
    this.mayBeLarge = mayBeLarge
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}
