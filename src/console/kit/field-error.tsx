// The message of a field that the service refused; a field names it in `aria-describedby` by its id.

export const FieldError = ({ id, text }: { id?: string; text: string | null | undefined }) =>
  text ? (
    <p class="field-error" id={id}>
      {text}
    </p>
  ) : null;
