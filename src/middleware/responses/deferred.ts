/** A promise that is settled from outside. */
export class Deferred<Value> {
  readonly promise: Promise<Value>
  resolve: (value: Value) => void = () => undefined
  reject: (error: unknown) => void = () => undefined

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}
