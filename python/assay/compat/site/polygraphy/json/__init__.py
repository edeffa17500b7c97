from polygraphy.json.serde import Decoder, Encoder, add_json_methods, from_json, load_json, save_json, to_json  # noqa: F401
