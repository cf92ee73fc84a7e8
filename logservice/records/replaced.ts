/** Another file has the name of the records that are open, or none: what is written to them would be gone with the process. */
export class RecordsReplaced extends Error {
  override readonly name = "RecordsReplaced";
  constructor() {
    super(
      "records.sqlite was replaced or removed under the running service: stop the service, put the file back and start it again; nothing was changed",
    );
  }
}
